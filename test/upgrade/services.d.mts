/** An attribute value or an item as DynamoDB's wire protocol has it. */
export type WireItem = { readonly [name: string]: { readonly [type: string]: unknown } }
export interface RecordedServices {
  readonly topics: readonly { readonly name: string; readonly partitions: number; readonly records: readonly unknown[] }[]
  readonly tables: readonly { readonly table: { readonly TableName: string }; readonly items: readonly WireItem[] }[]
}
export function readServices(brokers: string, dynamodb: string): Promise<RecordedServices>
export function writeTopics(brokers: string, topics: RecordedServices['topics']): Promise<void>
/** Writes recorded tables to an empty DynamoDB. Stores the item that `changeItem` returns for each recorded item. */
export function writeTables(dynamodb: string, tables: RecordedServices['tables'], changeItem: (table: string, item: WireItem) => WireItem): Promise<void>
