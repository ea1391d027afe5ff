/** The form of a URL that may be stored: browsers that show it load nothing over plain HTTP and run nothing. */
export const HTTPS_URL = '^https://[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?([/?#][^\\s"<>`\\\\]*)?$'

const SHAPE = new RegExp(HTTPS_URL, 'u')

export const isHttpsUrl = (text: string): boolean => SHAPE.test(text)
