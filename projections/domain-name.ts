/** The form of a domain's name, as a part of a regular expression. Tokens, topics, tables and file names contain the name. */
export const DOMAIN_NAME = '[a-z][a-z0-9]{1,30}'

/** The packages and schemas of the program itself have these names. */
const RESERVED: readonly string[] = ['common', 'tributary']

/** The rule of `isDomainName`, for error texts. */
export const DOMAIN_NAME_RULE = `2 to 31 lower-case letters and digits, with a letter first, and not ${RESERVED.join(' or ')}`

const FORM = new RegExp(`^${DOMAIN_NAME}$`)

export const isDomainName = (name: string): boolean => FORM.test(name) && !RESERVED.includes(name)
