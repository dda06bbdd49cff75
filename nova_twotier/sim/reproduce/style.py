"""The looks of a report, on a screen and in print."""

#: Blue and orange are told apart by the colour-blind; signs and words say the same as colours.
STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #1c2733; background: #fff;
  max-width: 1180px; margin: 0 auto; padding: 2rem 1.5rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 1.5rem; }
h2 { font-size: 1.15rem; margin: 2.5rem 0 .8rem; padding-bottom: .3rem;
  border-bottom: 2px solid #0072b2; }
.paper { margin: 0; color: #0072b2; font-weight: 600; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.2rem; margin: 0; }
dt { color: #5a6673; } dd { margin: 0; overflow-wrap: anywhere; }
code { background: #f1f4f7; padding: .1em .35em; border-radius: 3px; }
.notes { margin: 1rem 0 0; padding-left: 1.2rem; color: #44505c; }
table { border-collapse: collapse; width: 100%; margin: 1.2rem 0 1.8rem;
  font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: .4rem; }
th, td { padding: .45rem .6rem; border-bottom: 1px solid #d8dee5; vertical-align: top; }
thead th { border-bottom: 2px solid #5a6673; text-align: left; }
tbody th { text-align: left; }
.numbers th[scope=col], .numbers td { text-align: right; }
.numbers thead th:first-child { text-align: left; }
.numbers td > * { display: block; }
.numbers td > .chip { display: inline-block; }
small { display: block; color: #5a6673; font-size: .8rem; }
.printed { color: #5a6673; }
.printed::before { content: "paper "; font-size: .8rem; }
.chip { border: 1px solid #c3ccd5; border-radius: 3px; padding: 0 .4em; font-size: .85rem;
  white-space: nowrap; color: #1c2733; background: #fff; }
.over { background: #fdf1d8; border-color: #e69f00; }
.under { background: #e2f0f9; border-color: #0072b2; }
.far { font-weight: 700; border-width: 2px; }
.legend { color: #44505c; }
.claims td:nth-child(n+2) { white-space: nowrap; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(480px, 100%), 1fr));
  gap: 1.5rem; }
figure { margin: 0; break-inside: avoid; } .wide { grid-column: 1 / -1; }
img { width: 100%; height: auto; } figcaption { color: #5a6673; font-size: .85rem; }
summary { cursor: pointer; color: #0072b2; font-weight: 600; }
@media print { body { max-width: none; padding: 0; font-size: 10pt; }
  .chip { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  table, figure { break-inside: avoid; } .plots { grid-template-columns: 1fr 1fr; } }
"""
