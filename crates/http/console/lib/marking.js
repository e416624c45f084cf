/** Which sentences of a passage a reply is based on. */

const sentences = new Intl.Segmenter(undefined, { granularity: 'sentence' });
const words = new Intl.Segmenter(undefined, { granularity: 'word' });
/** At least so much of a sentence must occur in the reply. */
const ENOUGH = 0.62;
/** If no sentence has enough, the best one is marked from here on. */
const LEAST = 0.34;
/** Longer texts are compared up to here. */
const MOST = 100_000;

/** @param {string} text */
function wordsOf(text) {
  return Array.from(words.segment(text.slice(0, MOST).toLowerCase())).filter((each) => each.isWordLike).map((each) => each.segment);
}

/**
 * Cuts a passage into pieces; those that the reply repeats are marked.
 * @param {string} passage
 * @param {string} reply
 * @returns {{text: string, isMarked: boolean}[]}
 */
export function mark(passage, reply) {
  const given = new Set(wordsOf(reply));
  const pieces = Array.from(sentences.segment(passage.slice(0, MOST))).flatMap(({ segment }) => segment.split(/(?<=\n)(?=\S)/)).map((text) => {
    const all = wordsOf(text);
    const shared = all.filter((word) => given.has(word)).length;
    return { text, score: all.length > 1 && all.some((word) => word.length > 2 || !/^[a-z]+$/.test(word)) ? shared / all.length : 0, isMarked: false };
  });
  for (const piece of pieces) piece.isMarked = piece.score >= ENOUGH;
  if (!pieces.some((piece) => piece.isMarked)) {
    const best = pieces.reduce((one, other) => (other.score > (one?.score ?? 0) ? other : one), /** @type {any} */ (null));
    if (best && best.score >= LEAST) best.isMarked = true;
  }
  if (passage.length > MOST) pieces.push({ text: passage.slice(MOST), score: 0, isMarked: false });
  // The space after a sentence is not marked.
  return pieces.flatMap(({ text, isMarked }) => (isMarked ? [{ text: text.trimEnd(), isMarked }, { text: text.slice(text.trimEnd().length), isMarked: false }] : [{ text, isMarked }]));
}
