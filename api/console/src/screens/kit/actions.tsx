import { useState } from 'react';
import { Button, IconButton } from '@/ui/button';
import { ConfirmDialog, Dialog } from '@/ui/dialog';
import { Field, Input } from '@/ui/field';
import { KeyHint } from '@/ui/keyhint';
import { Menu } from '@/ui/menu';
import { Popover } from '@/ui/popover';
import { SidePanel } from '@/ui/sidepanel';
import { Facts } from '@/ui/page';
import { toast } from '@/ui/toast';
import { Tooltip } from '@/ui/tooltip';
import styles from './kit.module.css';

export function Actions() {
  const [open, setOpen] = useState<'dialog' | 'confirm' | 'panel' | null>(null);
  const close = () => setOpen(null);
  return (
    <section className={styles.part}>
      <h2>Actions</h2>
      <div className={styles.row}>
        <Button kind="primary" icon="plus">
          New contact
        </Button>
        <Button>Import</Button>
        <Button icon="filter">Filter</Button>
        <Button kind="quiet">Cancel</Button>
        <Button kind="danger">Delete webhook</Button>
        <Button kind="primary" busy>
          Charge $920.00 and switch
        </Button>
        <Button disabled>Not allowed</Button>
        <Button size="small" after="down">
          View
        </Button>
        <IconButton icon="more" label="More actions" />
        <IconButton icon="refresh" label="Refresh" keys="r" kind="plain" />
        <KeyHint keys="mod k" />
      </div>
      <div className={styles.row}>
        <Menu
          trigger={<Button after="down">Menu</Button>}
          items={[
            'Contact',
            { label: 'Edit', icon: 'edit', keys: 'e', onSelect: () => toast({ title: 'Saved' }) },
            { label: 'Add a note', icon: 'note', onSelect: () => undefined },
            { label: 'Merge', icon: 'segments', disabled: true, onSelect: () => undefined },
            null,
            { label: 'Archive', icon: 'archive', danger: true, onSelect: () => undefined },
          ]}
        />
        <Popover trigger={<Button>Popover</Button>} label="Rename the view">
          <Field label="Name of the view">
            <Input defaultValue="Hot leads" />
          </Field>
        </Popover>
        <Tooltip text="What the button does">
          <Button>Tooltip</Button>
        </Tooltip>
        <Button onClick={() => setOpen('dialog')}>Dialog</Button>
        <Button onClick={() => setOpen('confirm')}>Confirm</Button>
        <Button onClick={() => setOpen('panel')}>Side panel</Button>
        <Button
          onClick={() => toast({ title: '3 contacts archived', onUndo: () => toast({ title: '3 contacts restored' }) })}
        >
          Toast
        </Button>
        <Button
          onClick={() =>
            toast({
              kind: 'bad',
              title: 'The webhook was not saved',
              detail: 'The address answers 404. Correct it and save again.',
              requestId: 'req_01J8ZC6A3',
            })
          }
        >
          Error toast
        </Button>
      </div>
      <Dialog
        open={open === 'dialog'}
        onClose={close}
        title="Create an API key"
        intro="It acts with the role that you choose. You see it once."
        foot={
          <>
            <Button onClick={close}>Cancel</Button>
            <Button kind="primary" onClick={close}>
              Create API key
            </Button>
          </>
        }
      >
        <Field label="Name" help="Where it is used, for example “Website form”.">
          <Input />
        </Field>
      </Dialog>
      <ConfirmDialog
        open={open === 'confirm'}
        onClose={close}
        title="Purge Ada Lovelace?"
        consequence="This erases the contact with its events, notes and deliveries for good."
        action="Purge contact"
        type="Ada Lovelace"
        onConfirm={close}
      />
      {open === 'panel' && (
        <SidePanel title="Ada Lovelace" onClose={close} onNext={() => undefined} onExpand={() => undefined}>
          <Facts
            facts={[
              ['Email', 'ada@example.com'],
              ['Company', 'Analytical Engines'],
              ['Stage', 'Lead'],
            ]}
          />
        </SidePanel>
      )}
    </section>
  );
}
