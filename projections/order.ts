/** Compares texts by their UTF-16 units, for sort. */
export const compareText = (a: string, b: string): number => Number(a > b) - Number(a < b)
