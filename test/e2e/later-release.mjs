// A release with a changed rule, for child processes of tests (node --import): LATER names it, see later-release-hooks.mjs.
import { register } from 'node:module'

register('./later-release-hooks.mjs', import.meta.url, { data: process.env.LATER })
