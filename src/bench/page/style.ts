/**
 * The style sheet of a page. The colours of methods keep 3 : 1 against the page in both modes (WCAG 2.2, 1.4.11), and
 * were chosen so that they differ for people who see two of the three basic colours too.
 */
export const style = `
:root {
  color-scheme: light dark;
  --page: #ffffff; --text: #1c1f26; --quiet: #555b66; --line: #d5d9e0; --panel: #f5f6f8;
  --yes: #0a7d4f; --no: #b3261e; --undecided: #8a5a00; --right: #0b5fbd; --baseline: #5a5f69;
  --series-0: #003bff; --series-1: #992400; --series-2: #0da061; --series-3: #a00d9b; --series-4: #c28100; --series-5: #b266ff;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #16181d; --text: #e8eaee; --quiet: #a9b0bc; --line: #3a3f49; --panel: #20232a;
    --yes: #4cd196; --no: #ff8f86; --undecided: #f0b955; --right: #6db3ff; --baseline: #a4a9b3;
    --series-0: #498aca; --series-1: #b3610f; --series-2: #26ed7c; --series-3: #d9265c; --series-4: #edd326; --series-5: #a229ff;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 76rem;
  background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif;
}
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 0.75rem; padding-top: 1rem; border-top: 1px solid var(--line); }
p, li, dd, dt, figcaption, summary, code { overflow-wrap: anywhere; }
p { max-width: 46rem; }
.verdict { padding: 0.75rem 1rem; border-left: 0.5rem solid var(--answer); background: var(--panel); }
.verdict p { margin: 0; font-size: 1.1rem; }
.verdict strong { display: block; font-size: 1.35rem; color: var(--answer); }
.yes { --answer: var(--yes); } .no { --answer: var(--no); } .undecided { --answer: var(--undecided); }
.setting { color: var(--quiet); }
.plots { display: grid; gap: 1.5rem; grid-template-columns: repeat(auto-fill, minmax(min(26rem, 100%), 1fr)); }
.overview { margin-top: 1rem; }
.plots.small { grid-template-columns: repeat(auto-fill, minmax(min(17rem, 100%), 1fr)); }
figure { margin: 0; min-width: 0; max-width: 38rem; break-inside: avoid; }
figcaption { font-size: 0.9rem; }
figcaption ol { margin: 0.25rem 0; padding-left: 1.5rem; }
svg { display: block; height: auto; max-width: 100%; overflow: visible; }
figure > svg { width: 100%; }
svg text, svg tspan { white-space: pre; }
figcaption > svg, .legend svg { display: inline-block; vertical-align: -0.15em; margin-right: 0.4rem; width: 34px; max-width: none; }
.legend { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; margin: 0.5rem 0; padding: 0; list-style: none; font-size: 0.9rem; }
.legend li { min-width: 0; }
@media (min-width: 60rem) {
  .overview figure { display: grid; grid-template-columns: minmax(0, 40rem) 1fr; gap: 2rem; align-items: center; max-width: none; }
  .overview .legend { flex-direction: column; }
}
.problems rect:hover { fill: var(--text); fill-opacity: 0.25; }
.scroll { overflow-x: auto; max-height: 85vh; border: 1px solid var(--line); }
.scroll:focus-visible, summary:focus-visible { outline: 3px solid var(--right); outline-offset: 2px; }
table { border-collapse: separate; border-spacing: 0; font-size: 0.75rem; font-variant-numeric: tabular-nums; min-width: 100%; }
caption { text-align: left; padding: 0.4rem 0.6rem; color: var(--quiet); }
th, td { padding: 0.25rem 0.3rem; text-align: right; white-space: nowrap; border-top: 1px solid var(--line); }
thead th { position: sticky; top: 0; background: var(--panel); vertical-align: bottom; white-space: normal; overflow-wrap: break-word; max-width: 14rem; }
th:first-child { position: sticky; left: 0; background: var(--page); text-align: left; min-width: 7rem; max-width: min(18rem, 40vw); white-space: normal; overflow-wrap: anywhere; }
thead th:first-child { z-index: 1; background: var(--panel); }
tbody th { font-weight: normal; }
.meanings { font-size: 0.85rem; color: var(--quiet); columns: 22rem; column-gap: 2rem; }
.meanings div { break-inside: avoid; margin-bottom: 0.2rem; }
.meanings dt { display: inline; font-weight: 600; color: var(--text); }
.meanings dt::after { content: ': '; }
.meanings dd { display: inline; margin: 0; }
.facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.15rem 1rem; }
.facts dt { color: var(--quiet); } .facts dd { margin: 0; }
pre { padding: 0.75rem; background: var(--panel); white-space: pre-wrap; overflow-wrap: anywhere; }
details { margin-top: 1rem; } summary { cursor: pointer; }
.defs { position: absolute; width: 0; height: 0; }
@media print {
  :root {
    color-scheme: light;
    --page: #ffffff; --text: #000000; --quiet: #444444; --line: #bbbbbb; --panel: #f5f6f8;
    --yes: #0a7d4f; --no: #b3261e; --undecided: #8a5a00; --right: #0b5fbd; --baseline: #5a5f69;
    --series-0: #003bff; --series-1: #992400; --series-2: #0da061; --series-3: #a00d9b; --series-4: #c28100; --series-5: #b266ff;
  }
  body { max-width: none; padding: 0; font-size: 10pt; print-color-adjust: exact; }
  .scroll { overflow: visible; max-height: none; border: 0; }
  table { font-size: 6.5pt; } th, td { padding: 1pt 3pt; white-space: normal; } thead th { position: static; min-width: 0; }
  th:first-child { min-width: 0; position: static; } tr { break-inside: avoid; } h2 { break-after: avoid; } details { display: none; }
  .plots { grid-template-columns: 1fr 1fr; } .plots.small { grid-template-columns: 1fr 1fr 1fr; }
}
`;
