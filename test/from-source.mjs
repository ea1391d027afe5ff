// For child processes of tests (`node --import`): runs the TypeScript files of the repository, so that no build is needed.
import { register } from 'node:module'

register('./typescript-hooks.mjs', import.meta.url)
