import fc from 'fast-check'
import { expect, test } from 'vitest'
import { only } from '../../../../processors/engine/proof/compare.ts'
import { sideBySide } from '../../../../processors/engine/proof/side-by-side.ts'

async function* paged<T>(pages: readonly (readonly T[])[]): AsyncGenerator<readonly T[]> {
  yield* pages
}

const sorted = fc.uniqueArray(fc.nat(40)).map((list) => list.sort((a, b) => a - b))
/** Cuts the list into pages of any size. Pages can be empty. */
const cut = (list: readonly number[]) =>
  fc.array(fc.nat(list.length), { maxLength: 6 }).map((cuts) => {
    const at = [0, ...cuts.sort((a, b) => a - b), list.length]
    return at.slice(1).map((end, index) => list.slice(at[index], end))
  })
const side = sorted.chain((list) => fc.record({ list: fc.constant(list), pages: cut(list) }))

test('each entry is passed once, together with the entry of the same key if the other list has one, for any pages', async () => {
  await fc.assert(
    fc.asyncProperty(side, side, async (left, right) => {
      const pairs: (readonly [number | undefined, number | undefined])[] = []
      const counts = (each: number) => each % 7 !== 0
      await sideBySide<number>({
        left: only(paged(left.pages), counts),
        right: only(paged(right.pages), counts),
        order: (a, b) => a - b,
        pair: (...pair) => pairs.push(pair),
      })
      const all = [...new Set([...left.list, ...right.list])].filter(counts).sort((a, b) => a - b)
      expect(pairs).toEqual(
        all.map((each) => [left.list.includes(each) ? each : undefined, right.list.includes(each) ? each : undefined]),
      )
    }),
  )
})
