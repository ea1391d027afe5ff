import type { Athlete } from './athletes.ts'

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** At most so many athletes can be chosen on the page. */
const SHOWN = 200

/** The consent page: an athlete, a box for each requested scope, and two buttons. Its form repeats the query of the request. */
export const consentPage = (query: URLSearchParams, scopes: readonly string[], athletes: Iterable<Athlete>): string => {
  const options = [...athletes]
    .slice(0, SHOWN)
    .map(
      ({ id, firstname, lastname }) => `<option value="${id}">${escape(`${firstname} ${lastname}`)} (${id})</option>`,
    )
  const boxes = scopes.map(
    (scope) => `<p><label><input type="checkbox" name="granted:${escape(scope)}" checked> ${escape(scope)}</label></p>`,
  )
  const hidden = [...query].map(
    ([name, value]) => `<input type="hidden" name="${escape(name)}" value="${escape(value)}">`,
  )
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Loopback Strava</title>
<h1>Loopback Strava</h1><form method="post" action="/oauth/authorize">${hidden.join('')}
<p><label>Athlete <select name="athlete">${options.join('')}<option value="new">A new athlete with 50 activities</option></select></label></p>
<p>The application asks for these permissions:</p>${boxes.join('')}
<p><button name="decision" value="grant">Authorize</button> <button name="decision" value="deny">Cancel</button></p></form></html>
`
}
