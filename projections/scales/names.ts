const LONGEST = 100

/** A beer's name as the library is ordered and searched: without case, accents and signs; parts apart by one space. */
export const normalName = (name: string): string =>
  name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ').trim().slice(0, LONGEST)

/** The name as an id: fit for a key and a path; empty where no letter of it is. */
export const slugOf = (name: string): string => normalName(name).replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '').slice(0, 60)
