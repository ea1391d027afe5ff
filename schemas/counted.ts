/** So many of something, as people read it: `1 event`, `60,051 events`. */
export const counted = (count: number, noun: string): string => `${count.toLocaleString('en')} ${count === 1 ? noun : `${noun}s`}`
