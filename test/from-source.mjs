// For child processes of tests: runs TypeScript as it lies in the tree, so that no build is needed first.
import { register } from 'node:module'

register('./typescript-hooks.mjs', import.meta.url)
