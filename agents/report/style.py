"""Holds how the report's page looks: colours for light and dark, layout for desk and phone."""

from __future__ import annotations

from typing import Final

STEPS: Final = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
"""Points per round at which a matrix cell takes its next colour; the same in every report."""

LIGHT: Final = {
    "page": "#f6f5f2",
    "card": "#ffffff",
    "ink": "#1d2126",
    "soft": "#5c636c",
    "line": "#e1dfd9",
    "rule": "#c9c6be",
    "blue": "#1f5fa8",
    "orange": "#b04f06",
    "code": "#f3f1ec",
}
DARK: Final = {
    "page": "#15171a",
    "card": "#1d2024",
    "ink": "#e8e6e1",
    "soft": "#a2a8b0",
    "line": "#30343a",
    "rule": "#4a5058",
    "blue": "#74b0f2",
    "orange": "#f2994a",
    "code": "#15171a",
}

_DEEP, _PALE = "#12161b", "#ffffff"
HEAT_LIGHT: Final = {
    -6: ("#7a3300", _PALE),
    -5: ("#a84c06", _PALE),
    -4: ("#e08a3c", _DEEP),
    -3: ("#f3b274", _DEEP),
    -2: ("#f9d3ab", _DEEP),
    -1: ("#fdecda", _DEEP),
    0: ("#f1f0ed", _DEEP),
    1: ("#e0ecf8", _DEEP),
    2: ("#bdd7f0", _DEEP),
    3: ("#8dbbe5", _DEEP),
    4: ("#5697d3", _DEEP),
    5: ("#1f63ad", _PALE),
    6: ("#0c3a73", _PALE),
}
"""Background and ink of each step, orange below zero and blue above, which all eyes tell apart."""

HEAT_DARK: Final = {
    -6: ("#ffc48a", _DEEP),
    -5: ("#f09a4a", _DEEP),
    -4: ("#c9701f", _DEEP),
    -3: ("#8f4c12", _PALE),
    -2: ("#643811", _PALE),
    -1: ("#42291a", _PALE),
    0: ("#2a2e33", _PALE),
    1: ("#1b3047", _PALE),
    2: ("#1b4068", _PALE),
    3: ("#1f568f", _PALE),
    4: ("#4a8fd4", _DEEP),
    5: ("#7fb6ee", _DEEP),
    6: ("#b9d9fa", _DEEP),
}


def step(points: float) -> int:
    """Returns which of the 13 colours points per round take: -6 to 6, 0 below half a point."""
    reached = sum(abs(points) >= bound for bound in STEPS)
    return reached if points > 0 else -reached


def heat_class(number: int) -> str:
    """Returns the class of a step, such as ``m3`` or ``p3``."""
    return f"{'m' if number < 0 else 'p'}{abs(number)}"


def _variables(colours: dict[str, str], heat: dict[int, tuple[str, str]]) -> str:
    """Returns a scheme's colours as custom properties."""
    told = [f"--{name}:{colour}" for name, colour in colours.items()]
    for number, (ground, ink) in heat.items():
        told += [f"--{heat_class(number)}:{ground}", f"--{heat_class(number)}i:{ink}"]
    return ";".join(told)


def style() -> str:
    """Returns the style sheet of the page."""
    cells = "\n".join(
        f".{name}{{background:var(--{name});color:var(--{name}i)}}"
        for name in map(heat_class, HEAT_LIGHT)
    )
    return (
        f":root{{color-scheme:light dark;{_variables(LIGHT, HEAT_LIGHT)}}}\n"
        f"@media (prefers-color-scheme:dark){{:root{{{_variables(DARK, HEAT_DARK)}}}}}\n"
        f"{cells}\n{_LAYOUT}"
    )


_LAYOUT: Final = """\
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-behavior:smooth}
body{margin:0;background:var(--page);color:var(--ink);line-height:1.5;
font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;font-size:15px}
main{max-width:1180px;margin:0 auto;padding:28px 20px 56px}
header{display:flex;gap:16px;align-items:center;margin-bottom:18px}
header svg{flex:none;width:44px;height:52px}
h1{font-size:28px;line-height:1.2;margin:0;letter-spacing:-.01em}
h2{font-size:19px;line-height:1.3;margin:0 0 4px}
p{margin:0}
header p,.note{color:var(--soft)}
.note{font-size:13.5px;margin-bottom:14px;max-width:78ch}
section{background:var(--card);border:1px solid var(--line);border-radius:12px;
padding:20px 22px;margin-top:18px}
nav{display:flex;flex-wrap:wrap;gap:4px 20px;margin-top:16px;font-size:14px}
a{color:var(--blue);text-underline-offset:3px}
.lead{font-size:17px;line-height:1.5;overflow-wrap:anywhere}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(130px,1fr));gap:14px 20px;
margin:18px 0 0;padding-top:16px;border-top:1px solid var(--line)}
.tiles dt{font-size:13px;color:var(--soft)}
.tiles dd{margin:0;font-size:20px;font-weight:600;font-variant-numeric:tabular-nums}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th{font-weight:600;text-align:left}
thead th{font-size:13px;color:var(--soft);vertical-align:bottom;line-height:1.3}
.n{text-align:right;white-space:nowrap}
small{display:block;font-size:12px;color:var(--soft);white-space:nowrap}
bdi{overflow-wrap:anywhere}
.bounds{white-space:nowrap}
th div{width:max-content;overflow-wrap:break-word;max-width:246px}
th div bdi{overflow-wrap:inherit}
.scroll{overflow-x:auto;margin:0 -22px;padding:0 22px 4px}
.scroll:focus-visible{outline:2px solid var(--blue);outline-offset:-2px}
.plot{position:relative;min-width:120px}
.plot svg{position:absolute;inset:0;width:100%;height:100%;overflow:visible}
.plot line{stroke:var(--line);stroke-width:1}
.plot line.zero{stroke:var(--rule)}
.plot line.whisker{stroke:var(--blue);stroke-width:2.5;stroke-linecap:round}
.plot circle{fill:var(--blue);stroke:var(--card);stroke-width:1.5}
.plot .below{stroke:var(--orange)!important}
.plot circle.below{fill:var(--orange);stroke:var(--card)!important}
.plot .open{stroke:var(--soft)!important}
.plot circle.open{fill:var(--card)}
.plot text{fill:var(--soft);font-size:12px;text-anchor:middle}
.ratings{width:100%}
.ratings td,.ratings th{padding:7px 10px}
.ratings td:first-child{color:var(--soft);width:2.2em;padding-left:0}
.ratings .name{max-width:420px}
.ratings .plot{width:48%}
.ratings .elo{font-weight:600}
.ratings tfoot td{height:26px;padding:0}
.matrix{border-collapse:separate;border-spacing:2px;margin-left:-2px}
.matrix tbody td{height:40px;min-width:40px;padding:2px 3px;text-align:center;border-radius:5px;
font-size:13px;white-space:nowrap}
.matrix.roomy tbody td{height:56px;min-width:104px;font-size:15px}
.matrix td b{font-weight:650}
.matrix td small{color:inherit;font-size:11.5px}
.matrix td.self{color:var(--soft)}
.matrix td.unsure{font-style:italic}
.matrix thead th{text-align:center;padding:0 4px 4px}
.matrix thead th div{max-width:150px;margin:0 auto}
.matrix tbody th{position:sticky;left:-1px;background:var(--card);font-weight:400;
padding:0 10px 0 0;z-index:1;line-height:1.25}
.matrix tbody th div{padding-left:1.9em;text-indent:-1.9em}
.matrix.roomy tbody th div{max-width:216px}
.matrix.named tbody th div{padding-left:0;text-indent:0}
.matrix tbody th i{font-style:normal;color:var(--soft);display:inline-block;width:1.9em;
text-indent:0}
.legend{display:flex;flex-wrap:wrap;align-items:center;gap:8px 14px;margin-top:12px;
font-size:12.5px;color:var(--soft)}
.legend ol{display:flex;list-style:none;margin:0;padding:0;font-variant-numeric:tabular-nums}
.legend li{width:36px;height:22px;font-size:11px;line-height:22px;text-align:center}
.legend li:first-child{border-radius:5px 0 0 5px}
.legend li:last-child{border-radius:0 5px 5px 0}
.pairs{width:100%}
.pairs th,.pairs td{padding:8px 10px;border-bottom:1px solid var(--line)}
.pairs thead th{border-bottom-color:var(--rule);background:var(--card);white-space:normal}
.pairs tbody tr:last-child>*{border-bottom:0}
.pairs th:first-child{padding-left:0}
.pairs tbody th{font-weight:400;line-height:1.35}
.pairs tbody th span{color:var(--soft)}
.pairs .plot{width:17%;min-width:130px}
.pairs .plot circle{r:4px}
.pairs tbody tr:hover>*{background:color-mix(in srgb,var(--ink) 4%,var(--card))}
.tag{color:var(--orange);font-weight:600}
.fault{border-top:1px solid var(--line);padding:14px 0 2px}
.fault p{overflow-wrap:anywhere}
pre{margin:8px 0 10px;padding:12px 14px;background:var(--code);border:1px solid var(--line);
border-radius:8px;overflow-x:auto;white-space:pre-wrap;overflow-wrap:anywhere;font-size:13px;
line-height:1.45;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"Noto Sans Mono",monospace;
tab-size:4}
.facts{display:grid;grid-template-columns:max-content 1fr;gap:6px 22px;margin:14px 0 0}
.facts dt{color:var(--soft)}
.facts dd{margin:0;overflow-wrap:anywhere}
@media (max-width:640px){
main{padding:18px 12px 40px}
h1{font-size:23px}
section{padding:16px 14px;border-radius:10px;margin-top:12px}
.scroll{margin:0 -14px;padding:0 14px 4px}
.ratings thead{display:none}
.ratings tr{display:grid;grid-template-columns:1.7em 1fr auto;align-items:baseline;padding:6px 0}
.ratings tbody tr+tr{border-top:1px solid var(--line)}
.ratings td,.ratings th{padding:2px 0}
.ratings td:first-child{width:auto}
.ratings .name{padding-right:12px;grid-row:1/3;grid-column:2}
.ratings .elo{text-align:right}
.ratings .bounds{grid-column:3;grid-row:2;font-size:12px;color:var(--soft);
line-height:1.2}
.ratings .plot{grid-column:1/-1;grid-row:3;width:auto;height:20px;margin:2px 8px 0}
.ratings tfoot td:empty{display:none}
.ratings tfoot tr{padding:0}
.matrix tbody th{font-size:12.5px;padding-right:6px}
.matrix tbody th div,.matrix.roomy tbody th div{max-width:34vw}
.matrix thead th div{max-width:92px}
.matrix.roomy tbody td{min-width:50px;height:44px;font-size:13.5px}
.matrix.roomy:not(.named,.full) td small{display:none}
.legend li{width:25px;font-size:10px}
.pairs .plot{display:none}
.pairs tbody th,.pairs thead th:first-child{position:sticky;left:-1px;background:var(--card);
z-index:1;font-size:13px}
.pairs tbody th div{max-width:38vw}
.pairs th,.pairs td{padding:8px}
.facts{grid-template-columns:1fr;gap:0}
.facts dd{margin-bottom:8px}
}
@media print{
body{background:none}
section{break-inside:avoid;border-color:#bbb}
.matrix td,.legend li{print-color-adjust:exact;-webkit-print-color-adjust:exact}
nav{display:none}
}
"""
