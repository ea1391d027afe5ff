/**
 * Returns the text of a source file with one mistake planted into it. Throws unless the text to replace is in the file exactly once, so a
 * changed line is reported here.
 */
export const planted = (text, { file, find, replace }) => {
  const parts = text.split(find)
  if (parts.length !== 2)
    throw new Error(
      `The line of a planted bug is ${parts.length === 1 ? 'not' : 'more than once'} in ${file}: ${find}\nUpdate its text in test/planted.`,
    )
  return parts.join(replace)
}
