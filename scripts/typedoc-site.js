// In each page of the site: what a keyboard or a screen reader needs and TypeDoc's theme does not do.

/** A link within what opens a part of the navigation cannot be told from it: each gets a place of its own. */
function separateLinks() {
  for (const link of document.querySelectorAll('.tsd-navigation summary > a')) {
    link.parentElement.ariaLabel = link.textContent;
    link.closest('li').prepend(link);
  }
}
const navigation = document.getElementById('tsd-nav-container');
if (navigation) new MutationObserver(separateLinks).observe(navigation, { childList: true });
separateLinks(); // where the theme was faster

/** What scrolls can be scrolled with keys, and what does not scroll is no stop on the way. */
const sizes = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute('tabindex');
  }
});
for (const box of document.querySelectorAll('pre, .tsd-signature, .scrolls')) sizes.observe(box);

// The index of the search has words without hyphens: "best of n" for "best-of-n".
const words = document.getElementById('tsd-search-input');
words?.addEventListener(
  'input',
  () => {
    if (words.value.includes('-')) words.value = words.value.replaceAll('-', ' ');
  },
  { capture: true },
);
