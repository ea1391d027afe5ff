/** Compares texts by their UTF-16 code units, for `sort`. */
export const compareText = (a: string, b: string): number => Number(a > b) - Number(a < b)
