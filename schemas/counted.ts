/** A count with its noun: `1 event`, `60,051 events`. */
export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${count === 1 ? noun : `${noun}s`}`
