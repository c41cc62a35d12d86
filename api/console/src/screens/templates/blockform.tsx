import { Button } from '@/ui/button';
import { Segments } from '@/ui/choice';
import { ColourInput } from '@/ui/colour';
import { Field, Input } from '@/ui/field';
import { Select } from '@/ui/select';
import mail from '../mail/mail.module.css';
import { MergeText } from '../mail/mergetext';
import {
  headingOf,
  textToHTML,
  withColumns,
  withHeading,
  withWidth,
  type Block,
  type Item,
  type Level,
} from './blocks';
import { HTMLField } from './htmlfield';
import { t } from './messages';
import styles from './blocks.module.css';

interface PartProps {
  block: Block;
  /** Where the block is in a request: "/blocks/2". */
  pointer: string;
  set: (change: Partial<Block>) => void;
}

/** BlockForm edits one block: what is in it, and how it looks. */
export function BlockForm({ item, pointer, onChange }: {
  item: Item;
  pointer: string;
  onChange: (next: Item) => void;
}) {
  const { block } = item;
  const setBlock = (next: Block) => onChange({ ...item, block: next });
  const part: PartProps = { block, pointer, set: (change) => setBlock({ ...block, ...change }) };
  switch (item.kind) {
    case 'heading':
      return <HeadingForm {...part} onBlock={setBlock} />;
    case 'text':
    case 'html':
    case 'footer':
      return (
        <TextForm
          {...part}
          onHTML={() => {
            const { text = '', ...rest } = block;
            const kind = item.kind === 'text' ? 'html' : item.kind;
            onChange({ ...item, kind, block: { ...rest, html: textToHTML(text) } });
          }}
        />
      );
    case 'button':
      return <ButtonForm {...part} />;
    case 'image':
      return <ImageForm {...part} onBlock={setBlock} />;
    case 'columns':
      return <ColumnsForm item={item} pointer={pointer} onChange={onChange} />;
    case 'divider':
      return <Colour label={t('lineColor')} name="color" {...part} />;
  }
}

function HeadingForm({ onBlock, ...part }: PartProps & { onBlock: (next: Block) => void }) {
  const { block, pointer } = part;
  const { level, text } = headingOf(block) ?? { level: 1, text: '' };
  const sizes = [
    { value: '1', label: t('large') },
    { value: '2', label: t('medium') },
    { value: '3', label: t('small') },
  ] as const;
  return (
    <>
      <Field label={t('headingText')} pointer={`${pointer}/html`}>
        <MergeText
          label={t('headingText')}
          rows={2}
          value={text}
          onChange={(next) => onBlock(withHeading(block, level, next))}
        />
      </Field>
      <div className={styles.row}>
        <Field label={t('size')}>
          <Select
            label={t('size')}
            options={sizes}
            value={`${level}`}
            onChange={(size) => onBlock(withHeading(block, Number(size) as Level, text))}
          />
        </Field>
        <Align {...part} />
      </div>
      <Colours {...part} />
    </>
  );
}

function TextForm({ onHTML, ...part }: PartProps & { onHTML: () => void }) {
  const { block, pointer, set } = part;
  const isHTML = block.html !== undefined;
  return (
    <>
      {isHTML ? (
        <HTMLField value={block.html ?? ''} pointer={`${pointer}/html`} onChange={(html) => set({ html })} />
      ) : (
        <>
          <Field label={t('text')} pointer={`${pointer}/text`} help={t('blockTextHelp')}>
            <MergeText label={t('text')} rows={6} value={block.text ?? ''} onChange={(text) => set({ text })} />
          </Field>
          <div className={mail.buttons}>
            <Button size="small" kind="quiet" onClick={onHTML}>
              {t('asFormatted')}
            </Button>
          </div>
        </>
      )}
      <Align {...part} />
      <Colours {...part} />
    </>
  );
}

function ButtonForm(part: PartProps) {
  const { block, pointer, set } = part;
  return (
    <>
      <Field label={t('label')} pointer={`${pointer}/text`}>
        <Input value={block.text ?? ''} onChange={(event) => set({ text: event.target.value })} />
      </Field>
      <Field label={t('url')} pointer={`${pointer}/url`} help={t('urlHelp', { field: '{{ unsubscribe_url }}' })}>
        <Input mono maxLength={2000} value={block.url ?? ''} onChange={(event) => set({ url: event.target.value })} />
      </Field>
      <Align {...part} />
      <div className={styles.row}>
        <Colour label={t('buttonColor')} name="background" {...part} />
        <Colour label={t('textColor')} name="color" {...part} />
      </div>
    </>
  );
}

function ImageForm({ onBlock, ...part }: PartProps & { onBlock: (next: Block) => void }) {
  const { block, pointer, set } = part;
  const setWidth = (width: number) => {
    const { width: _, ...rest } = block;
    onBlock(width > 0 ? { ...rest, width } : rest);
  };
  return (
    <>
      <Field label={t('src')} pointer={`${pointer}/src`} help={t('srcHelp')}>
        <Input mono maxLength={2000} value={block.src ?? ''} onChange={(event) => set({ src: event.target.value })} />
      </Field>
      <Field label={t('alt')} pointer={`${pointer}/alt`} help={t('altHelp')}>
        <Input maxLength={500} value={block.alt ?? ''} onChange={(event) => set({ alt: event.target.value })} />
      </Field>
      <Field label={t('imageUrl')} pointer={`${pointer}/url`} optional>
        <Input mono maxLength={2000} value={block.url ?? ''} onChange={(event) => set({ url: event.target.value })} />
      </Field>
      <div className={styles.row}>
        <Field label={t('width')} pointer={`${pointer}/width`} optional>
          <Input
            type="number"
            min={1}
            max={1200}
            className="num"
            value={block.width ?? ''}
            after={<span className={mail.unit}>{t('pixels')}</span>}
            onChange={(event) => setWidth(Math.trunc(Number(event.target.value)))}
          />
        </Field>
        <Align {...part} />
      </div>
    </>
  );
}

function ColumnsForm({ item, pointer, onChange }: { item: Item; pointer: string; onChange: (next: Item) => void }) {
  return (
    <>
      <Segments
        label={t('howMany')}
        value={`${item.columns.length}`}
        onChange={(count) => onChange(withColumns(item, Number(count)))}
        options={['2', '3', '4'].map((value) => ({ value, label: t('columnCount', { count: Number(value) }) }))}
      />
      <div className={styles.row}>
        {item.columns.map((_, i) => (
          <Field key={i} label={t('columnWidth', { number: i + 1 })} pointer={`${pointer}/columns/${i}/width`} optional>
            <Input
              type="number"
              min={1}
              max={100}
              className="num"
              value={item.block.columns?.[i]?.width ?? ''}
              after={<span className={mail.unit}>%</span>}
              onChange={(event) => onChange(withWidth(item, i, Math.trunc(Number(event.target.value))))}
            />
          </Field>
        ))}
      </div>
    </>
  );
}

function Align({ block, pointer, set }: PartProps) {
  const options = [
    { value: 'left', label: t('left') },
    { value: 'center', label: t('center') },
    { value: 'right', label: t('right') },
  ] as const;
  return (
    <Field label={t('align')} pointer={`${pointer}/align`}>
      <Select
        label={t('align')}
        options={options}
        value={block.align ?? (block.type === 'footer' ? 'center' : 'left')}
        onChange={(align) => set({ align })}
      />
    </Field>
  );
}

function Colours(part: PartProps) {
  return (
    <div className={styles.row}>
      <Colour label={t('textColor')} name="color" {...part} />
      <Colour label={t('background')} name="background" {...part} />
    </div>
  );
}

/** Colour is a color that may be absent, as text and as a picker. */
function Colour({ label, name, block, pointer, set }: PartProps & { label: string; name: 'color' | 'background' }) {
  const value = block[name] ?? '';
  const put = (text: string) => set(name === 'color' ? { color: text } : { background: text });
  const isColour = /^#[0-9a-f]{6}$/i.test(value);
  return (
    <Field
      label={label}
      pointer={`${pointer}/${name}`}
      optional
      error={value === '' || isColour ? undefined : t('noColour')}
    >
      <ColourInput
        value={value}
        shown={isColour ? value : '#000000'}
        pick={t('pick', { name: label })}
        onChange={put}
      />
    </Field>
  );
}
