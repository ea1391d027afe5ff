/** A URL that can be stored. A browser that shows it loads nothing over plain HTTP and executes nothing. */
export const HTTPS_URL = '^https://[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?([/?#][^\\s"<>`\\\\]*)?$'

const SHAPE = new RegExp(HTTPS_URL, 'u')

export const isHttpsUrl = (text: string): boolean => SHAPE.test(text)
