/** JSON Schemas of simple members of answers. */
export const text = { type: 'string' } as const
export const number = { type: 'number' } as const
export const integer = { type: 'integer' } as const
export const bool = { type: 'boolean' } as const
export const textOrNull = { type: ['string', 'null'] } as const
export const numberOrNull = { type: ['number', 'null'] } as const
