import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isBody, type Body } from './body.ts'
import { ServiceError } from './service-error.ts'

const PREFIX = 'Timestream_20181101.'
/** The maximum size of a request. It is larger than 100 records of 2 KB in JSON, and than a query of 256 KB. */
const MAX_BODY_BYTES = 1_048_576

export type Operation = (body: Body, request: IncomingMessage) => Body | Promise<Body>

const bytesOf = async (request: IncomingMessage): Promise<Buffer> => {
  const parts: Buffer[] = []
  let size = 0
  // By default, a `throw` in this loop would destroy the request, and the caller would not get the error.
  for await (const part of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += part.length
    if (size > MAX_BODY_BYTES)
      throw new ServiceError('RequestEntityTooLargeException', `The request is larger than ${MAX_BODY_BYTES} bytes.`)
    parts.push(part)
  }
  return Buffer.concat(parts)
}

const bodyOf = async (request: IncomingMessage): Promise<Body> => {
  const bytes = await bytesOf(request)
  try {
    const body: unknown = bytes.length === 0 ? {} : JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    if (isBody(body)) return body
  } catch {
    // Falls through to the error below, like JSON that is not an object.
  }
  throw new ServiceError('SerializationException', 'The request is not a JSON object in UTF-8.')
}

const targetOf = (request: IncomingMessage): string => {
  const target = String(request.headers['x-amz-target'] ?? '')
  if (request.method !== 'POST' || !target.startsWith(PREFIX)) {
    throw new ServiceError(
      'UnknownOperationException',
      `This is timestream-local. Send POST with X-Amz-Target: ${PREFIX}<operation>, for example by an AWS SDK.`,
    )
  }
  return target.slice(PREFIX.length)
}

const fault = (error: unknown): { status: number; body: Body } => {
  if (error instanceof ServiceError)
    return {
      status: error.status,
      body: { __type: error.name, message: error.message, Message: error.message, ...error.detail },
    }
  const message = `timestream-local failed: ${error instanceof Error ? error.message : String(error)}`
  return { status: 500, body: { __type: 'InternalServerException', message, Message: message } }
}

/** Returns the request handler for the protocol JSON 1.0 of the AWS SDKs: the operation is in a header, and an error has a `__type`. */
export const createHandler =
  (operations: Readonly<Record<string, Operation>>) =>
  async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const answer = async (): Promise<{ status: number; body: Body }> => {
      try {
        const target = targetOf(request)
        const operation = Object.hasOwn(operations, target) ? operations[target] : undefined
        if (operation === undefined)
          throw new ServiceError(
            'UnknownOperationException',
            `timestream-local does not support the operation ${target}.`,
          )
        return { status: 200, body: await operation(await bodyOf(request), request) }
      } catch (error) {
        return fault(error)
      }
    }
    const { status, body } = await answer()
    // The unread rest of a body must not be read as the next request, so the connection is closed.
    const connection = request.complete ? {} : { Connection: 'close' }
    response
      .writeHead(status, {
        'Content-Type': 'application/x-amz-json-1.0',
        'x-amzn-RequestId': randomUUID(),
        ...connection,
      })
      .end(JSON.stringify(body))
  }
