// What is solved, to show elsewhere: a picture and a line of Markdown. Nobody but this
// browser knows of it, so both say that they are self-reported.
import { escaped } from "./elements.js";

const [WIDTH, LEFT, STEP, SIDE, MOST] = [480, 190, 17, 13, 12]; // MOST squares in a line
const INK = { plain: "#222832", faint: "#5b6270", solved: "#0a6c4c", open: "#ffffff" };

export const dayOf = (at) => new Date(at).toLocaleDateString("en", { dateStyle: "long" });
const counts = (rows) => rows.map(({ title, done, of }) => `${done} of ${of} ${title}`).join("; ");

/** A line of Markdown; rows: {title, done, of, which} of each assignment. */
export const line = (rows, address, day) =>
  `**[Paying Attention](${address})**: ${counts(rows)}. Self-reported, ${day}.`;

/** A picture with a square for each question, as the text of an SVG file. */
export function picture(rows, day) {
  let top = 52;
  const parts = rows.flatMap(({ title, done, of, which }) => {
    const marks = which ?? "1".repeat(done).padEnd(of, "0"); // as kept by earlier versions
    const y = top;
    top += Math.ceil(of / MOST) * STEP + 10;
    const squares = [...marks].map((mark, number) => {
      const place = `x="${LEFT + (number % MOST) * STEP}" y="${y + Math.floor(number / MOST) * STEP}"`;
      return `<rect ${place} width="${SIDE}" height="${SIDE}" rx="2" fill="${mark === "1" ? INK.solved : INK.open}"/>`;
    });
    const words = (x, anchor, text) =>
      `<text x="${x}" y="${y + 11}" text-anchor="${anchor}" fill="${INK.plain}">${escaped(text)}</text>`;
    return [words(20, "start", title), `<g stroke="${INK.solved}">${squares.join("")}</g>`, words(WIDTH - 20, "end", `${done} of ${of}`)];
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${top + 30}" viewBox="0 0 ${WIDTH} ${top + 30}" font-family="sans-serif" font-size="13">
<title>Paying Attention: ${escaped(counts(rows))}. Self-reported, ${day}.</title>
<rect width="100%" height="100%" rx="8" fill="#f7f8f9"/>
<text x="20" y="32" font-size="18" font-weight="bold" fill="${INK.plain}">Paying Attention</text>
${parts.join("\n")}
<text x="20" y="${top + 12}" font-size="11" fill="${INK.faint}">Self-reported: checks that passed in a browser, by ${day}</text>
</svg>
`;
}
