// On a phone the main navigation holds more than fits: the entry of this page comes into view.

const current = document.querySelector(".site-nav [aria-current]");
const nav = current?.closest(".site-nav");

if (nav) {
  const beyond = current.getBoundingClientRect().left - nav.getBoundingClientRect().left;
  nav.scrollLeft += beyond - (nav.clientWidth - current.offsetWidth) / 2;
}
