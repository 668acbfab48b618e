// The API key: kept for this tab only, and never in the address once the page has it.

const NAME = 'undertone.key';

/** The key, or '' before there is one. */
export const key = () => sessionStorage.getItem(NAME) ?? '';

/** Keeps a key until the tab is closed. */
export const keep = (value) => sessionStorage.setItem(NAME, value.trim());

/** Forgets the key. */
export const forget = () => sessionStorage.removeItem(NAME);

/** Takes a key from `#key=...`, which is never sent to a server, and clears it from the address and its history. */
export function takeFromAddress() {
  const found = new URLSearchParams(location.hash.slice(1)).get('key');
  if (!found) return;
  keep(found);
  history.replaceState(null, '', location.pathname + location.search);
}
