/**
 * The text of a source file with one mistake planted into it. The place is named by its text, which must be there exactly once: when the
 * line changes, whoever changes it is told here, and chooses the place anew.
 */
export const planted = (text, { file, find, replace }) => {
  const parts = text.split(find)
  if (parts.length !== 2) throw new Error(`The place of a planted bug is ${parts.length === 1 ? 'not' : 'more than once'} in ${file}: ${find}\nName it anew in test/planted.`)
  return parts.join(replace)
}
