// Tells the server the browser's time zone by a cookie and, where it was another, writes the times on this page anew.
// The texts are those of memweb/templatetags/memweb_format.py.

const COOKIE = "memweb_tz";
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

const knownZone = () =>
  document.cookie
    .split("; ")
    .find((pair) => pair.startsWith(`${COOKIE}=`))
    ?.slice(COOKIE.length + 1);

const parts = (date) => {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
  });
  const found = Object.fromEntries(format.formatToParts(date).map((part) => [part.type, part.value]));
  return { ...found, month: found.month.slice(0, 3) };
};

const exactTime = (date) => {
  const { weekday, day, month, year, hour, minute, second } = parts(date);
  return `${weekday} ${day} ${month} ${year}, ${hour}:${minute}:${second} (${zone})`;
};

const counted = (number, unit) => `${number} ${unit}${number === 1 ? "" : "s"} ago`;

const relativeTime = (date) => {
  const minutes = (Date.now() - date.getTime()) / 60_000;
  if (minutes >= 0 && minutes < 1) return "just now";
  if (minutes >= 0 && minutes < 60) return `${Math.floor(minutes)} min ago`;
  if (minutes >= 0 && minutes < 24 * 60) return counted(Math.floor(minutes / 60), "hour");
  if (minutes >= 0 && minutes < 7 * 24 * 60) return counted(Math.floor(minutes / 60 / 24), "day");
  const { day, month, year } = parts(date);
  return `${day} ${month} ${year}`;
};

// Once only: a zone that was chosen by hand stays.
if (zone && !knownZone()) {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `${COOKIE}=${zone}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
  for (const label of document.querySelectorAll("[data-zone-label]")) label.textContent = zone;
  for (const time of document.querySelectorAll("time[datetime]")) {
    const date = new Date(time.dateTime);
    time.title = exactTime(date);
    time.textContent = time.dataset.style === "exact" ? exactTime(date) : relativeTime(date);
  }
}
