import { TOKENS } from './tokens.ts'

/** The name of the secret with the tokens of a link, for events and items. */
export const secretRefOf = (subject: string): string => `${subject}/${TOKENS}`
