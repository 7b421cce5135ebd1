"""Draws views and tables; imported only where a drawing is made."""
