import type { Domain } from '../../../projections/projection.ts'
import type { Codec, Head } from '../../../schemas/codec.ts'
import type { EventMeta } from '../../../schemas/event.ts'
import type { Log, NewRecord } from '../ports/log.ts'

type Headers = NonNullable<NewRecord['headers']>

interface About {
  readonly domain: Pick<Domain, 'name' | 'keyedByPeople'>
  readonly codec: Pick<Codec, 'head'>
}

/**
 * Returns a log that adds the headers of the CloudEvents Kafka binding (binary mode) to each appended record. The headers are derived from
 * the record's event, which is decoded if the caller did not pass it. A log without `hasHeaders` is returned as it is.
 */
export const withCloudEvents = (log: Log, about: About): Log => {
  const { head } = about.codec
  if (log.hasHeaders !== true || head === undefined) return log
  const described = (record: NewRecord): NewRecord => {
    try {
      return { ...record, headers: headersOf(record, about.domain, head(record.value, record.event)) }
    } catch {
      // A record that cannot be decoded is appended without headers. Its readers report the fault.
      return record
    }
  }
  return { ...log, append: (records, patienceMs) => log.append(records.map(described), patienceMs) }
}

const headersOf = ({ key }: NewRecord, domain: About['domain'], { type, meta, schema }: Head): Headers => {
  const subject = isPerson(domain, { type, key, meta }) ? {} : { ce_subject: key }
  return {
    ce_specversion: '1.0',
    ce_id: meta.eventId,
    ce_source: `urn:tributary:${domain.name}:${meta.source}`,
    ce_type: type,
    ce_time: timeOf(meta),
    ce_dataschema: `urn:tributary:schema:${schema.name}:${schema.version}`,
    ...subject,
    'content-type': 'application/avro',
  }
}

/** True if the key can be the id of a person. Then no header contains the key, because headers are not sealed. */
const isPerson = (
  { keyedByPeople }: About['domain'],
  { type, key, meta }: { readonly type: string; readonly key: string; readonly meta: EventMeta },
): boolean => keyedByPeople === undefined || keyedByPeople.includes(type) || meta.subjectId === key

/** The first and the last instant that RFC 3339 can express: its years have four digits. */
const [EARLIEST, LATEST] = [Date.parse('0000-01-01T00:00:00.000Z'), Date.parse('9999-12-31T23:59:59.999Z')]

/** The value of `ce_time`: `occurredAt`, or `recordedAt` if RFC 3339 cannot express `occurredAt`, or else 1970. */
const timeOf = ({ occurredAt, recordedAt }: EventMeta): string =>
  new Date([occurredAt, recordedAt].find((ms) => ms >= EARLIEST && ms <= LATEST) ?? 0).toISOString()
