// A release with a changed rule, for child processes of tests (node --import): see five-am-hooks.mjs.
import { register } from 'node:module'

register('./five-am-hooks.mjs', import.meta.url)
