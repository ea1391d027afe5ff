const LONGEST = 100

/** A beer's name as the library is ordered and searched: without case, accents and signs; parts apart by one space. */
export const normalName = (name: string): string =>
  name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ').trim().slice(0, LONGEST)

const MOST_WORDS = 8

/** What a name is found by: itself, and what is left of it from each further word on. */
export const endingsOf = (name: string): readonly string[] => {
  const words = normalName(name).split(' ')
  return words.slice(0, MOST_WORDS).map((_, index) => words.slice(index).join(' '))
}

/** The name as an id: fit for a key and a path; empty where no letter of it is. */
export const slugOf = (name: string): string => normalName(name).replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '').slice(0, 60)
