"""Says how sure a result is: intervals, ratings, a sequential test."""
