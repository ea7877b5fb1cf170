// The last searches that were used, in this browser only: the server learns nothing of them.

const KEPT = 20;
const LONGEST = 300;

/** The recent searches of a user: `all()` newest first, `add(text)`, `clear()`. */
export const recentSearches = (user) => {
  const key = `memweb.recent.${user}`;

  const all = () => {
    try {
      const stored = JSON.parse(localStorage.getItem(key) ?? "[]");
      return Array.isArray(stored) ? stored.filter((one) => typeof one === "string") : [];
    } catch {
      return []; // no storage, or something else in it
    }
  };

  const add = (text) => {
    const search = text.trim();
    if (!search || search.length > LONGEST) return;
    try {
      localStorage.setItem(key, JSON.stringify([search, ...all().filter((one) => one !== search)].slice(0, KEPT)));
    } catch {
      // then there are no recent searches
    }
  };

  const clear = () => {
    try {
      localStorage.removeItem(key);
    } catch {
      // there were none
    }
  };

  return { all, add, clear };
};
