/** The form of a URL that can be stored. Only https: a browser that shows the URL loads nothing over plain HTTP and executes no script. */
export const HTTPS_URL = '^https://[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?([/?#][^\\s"<>`\\\\]*)?$'

const SHAPE = new RegExp(HTTPS_URL, 'u')

export const isHttpsUrl = (text: string): boolean => SHAPE.test(text)
