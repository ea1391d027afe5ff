/**
 * The subject of personal data is a person (`ann`) or a part of a person (`ann~link~2`), whose data can be forgotten without the rest. The
 * name of a part begins with the person and `~`. If it ends with a further `~` and a number, the part is numbered: it accepts no data after
 * it is forgotten. Data of the program itself has a subject that begins with `~`, and is never forgotten. No id of a user contains `~`.
 */
const SEPARATOR = '~'

/** The person of a subject. */
export const personOf = (subject: string): string => {
  const end = subject.indexOf(SEPARATOR)
  return end > 0 ? subject.slice(0, end) : subject
}

export const isPart = (subject: string): boolean => personOf(subject) !== subject

export const isNumberedPart = (subject: string): boolean => /^[^~]+~.+~\d+$/.test(subject)

export const isSubjectOfProgram = (subject: string): boolean => subject.startsWith(SEPARATOR)
