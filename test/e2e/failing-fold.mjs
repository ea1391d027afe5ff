import { existsSync, writeFileSync } from 'node:fs'
import { meals } from '../../dist/processors/meals/domain.js'

/**
 * What a meal of 666 calories does to whoever folds it. FAILING_FOLD is `throw`, `kill`, `loop` (for ever), or `die FILE`: the first who folds one
 * of 667 dies of it, and leaves the file.
 */
const [how, file] = (process.env.FAILING_FOLD ?? '').split(' ')
const { folds } = meals.projections[0]
const { MealLogged } = folds

const meet = (calories) => {
  if (calories === 666_000 && how === 'throw') throw new Error('a meal of 666 calories')
  if (calories === 666_000 && how === 'kill') process.kill(process.pid, 'SIGKILL')
  if (calories === 666_000 && how === 'loop') for (;;);
  if (calories === 667_000 && how === 'die' && !existsSync(file)) {
    writeFileSync(file, '')
    process.kill(process.pid, 'SIGKILL')
  }
}

folds.MealLogged = (event, get) => {
  meet(Number(event.data.calories))
  return MealLogged(event, get)
}
