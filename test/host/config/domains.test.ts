import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { OUR_DOMAINS } from '../../../domains/list.ts'
import { loadDomains } from '../../../host/config/domains.ts'

const folder = mkdtempSync(join(tmpdir(), 'tributary-domains-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Writes a package whose default export is this expression. */
const writePackage = (path: string, exported: string): void => {
  mkdirSync(join(folder, path), { recursive: true })
  writeFileSync(join(folder, path, 'package.json'), '{ "type": "module", "main": "main.js" }')
  writeFileSync(join(folder, path, 'main.js'), `export default ${exported}`)
}
/** The source text of the property by which `defineDomain` marks a record. The program accepts only records with this property. */
const DECLARED = `[Symbol.for('tributary.declared-by')]: '${new URL('../../../domains/record.ts', import.meta.url).href}'`
const recordOf = (name: string): string =>
  `{ ${DECLARED}, domain: { name: '${name}', topic: '${name}.events', table: { name: '${name}', indexes: [] }, foldVersion: 1, projections: [], partitions: { keyIn: () => undefined, example: 'A' } } }`

writePackage('plants', recordOf('plants'))
writePackage('node_modules/books', recordOf('books'))
writePackage('copy', recordOf('plants'))
writePackage('none', "{ domain: 'plants' }")
writePackage('undeclared', recordOf('plants').replace(DECLARED, 'other: 1'))
writePackage('misnamed', recordOf('my-plants'))
writePackage('broken', 'missing()')

const load = async (selection: string | undefined): Promise<readonly string[]> =>
  (await loadDomains(selection, folder)).all.map(({ name }) => name)

describe('TRIBUTARY_DOMAINS', () => {
  test.each([undefined, ''])('selects all domains of this package if it is %j', async (selection) => {
    expect(await loadDomains(selection, folder)).toBe(OUR_DOMAINS)
  })

  test.each([
    ['meals', ['meals']],
    ['scales, meals', ['scales', 'scales-series', 'meals']],
    ['./plants,books', ['plants', 'books']],
    [join(folder, 'plants', 'main.js'), ['plants']],
  ])('"%s" selects domains, paths and packages, in this order', async (selection, expected) => {
    expect(await load(selection)).toEqual(expected)
  })

  test.each([
    ['meals,,scales', /contains an empty name: "meals,,scales"\. Write for example meals,\.\/my-domain\./],
    [',', /contains an empty name/],
    [
      'mealz',
      /names mealz, which is neither a domain of this program \(meals, scales, expenses, activities\) nor a package .* Is it built\?/s,
    ],
    ['./nowhere', /names \.\/nowhere, which is neither .* Cannot find module/s],
    ['./broken', /names \.\/broken, .* missing is not defined/s],
    ['./none', /names \.\/none, whose default export is not the record of a domain\. Export one: import/],
    [
      './plants,./copy',
      /Both the domain with the table plants and the domain with the table plants have the name plants\. .* or select only one/,
    ],
    ['meals,meals', /have the name meals\./],
    ['./undeclared', /whose default export is not the record of a domain/],
    ['./misnamed', /has the name "my-plants"\. A name has 2 to 31 lower-case letters and digits/],
  ])('"%s" is a fault that names the mistake', async (selection, message) => {
    await expect(load(selection)).rejects.toMatchObject({ code: 'bad-config', message: expect.stringMatching(message) })
  })
})
