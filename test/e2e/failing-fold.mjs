import { existsSync, writeFileSync } from 'node:fs'
import { meals } from '../../dist/processors/meals/domain.js'

/**
 * Replaces the fold of `MealLogged` in the process that loads this file. FAILING_FOLD chooses what happens at a meal of 666 calories: `throw` throws,
 * `kill` kills the process, `loop` never returns. With `die FILE`, the first process that folds a meal of 667 calories creates the file and dies.
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
