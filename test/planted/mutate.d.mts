import type { Mistake } from './mistake.ts'

export const planted: (text: string, mistake: Mistake) => string
