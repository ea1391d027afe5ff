const LONGEST = 100

/**
 * A beer's name in the form by which the list of beers is sorted and searched: in lower case, without accents and
 * punctuation, and with single spaces.
 */
export const normalName = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .slice(0, LONGEST)

const MOST_WORDS = 8

/** The texts by which a search finds a name: the name from each of its first words to its end. `Pale Ale` gives `pale ale` and `ale`. */
export const endingsOf = (name: string): readonly string[] => {
  const words = normalName(name).split(' ')
  return words.slice(0, MOST_WORDS).map((_, index) => words.slice(index).join(' '))
}

/** The name as an id for a key and a path. Empty if no letter of the name can be part of an id. */
export const slugOf = (name: string): string =>
  normalName(name)
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60)
