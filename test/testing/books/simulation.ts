import { workloadOf, type Domain, type DomainSimulation } from '../../../api/domain.ts'

/** Two people finish the same few books, so that events change the same items. Checks that the pages of a shelf are the sum of its books' pages. */
export const simulationOf = (domain: Domain, also: readonly Domain[]): DomainSimulation => ({
  workload: workloadOf(
    domain,
    ({ random }) => ({
      type: 'BookFinished',
      key: random.pick(['ada', 'bob']),
      data: { bookId: random.pick(['emma', 'momo', 'ulysses']), pages: random.between(0, 3) },
      personal: { note: random.pick([null, 'good', 'long']) },
    }),
    {
      also,
      check: ({ items }) => {
        const books = items.filter(({ SK }) => SK.startsWith('BOOK#'))
        const shelves = items.filter(({ SK }) => SK === 'SHELF')
        return shelves.flatMap(({ PK, pages }) => {
          const own = books.filter((book) => book.PK === PK)
          const sum = own.reduce((total, book) => total + Number(book['pages']), 0)
          return pages === sum ? [] : [`${PK} has ${String(pages)} pages, and its books have ${sum}`]
        })
      },
    },
  ),
})
