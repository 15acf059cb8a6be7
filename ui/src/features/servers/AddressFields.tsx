// The form's fields of a server at a web address.

import { PlainArea, PlainInput } from "../../components/PlainField";
import { FieldNotes } from "./FieldNotes";
import { fieldProps } from "./fieldProps";
import type { ServerForm } from "./useServerForm";
import classes from "./AddressFields.module.css";

export function AddressFields({ form }: { form: ServerForm }) {
  const { form: state, change, remarks } = form;
  return (
    <>
      <div>
        <PlainInput label="Web address" placeholder="https://example.com/mcp" inputMode="url" value={state.url} {...fieldProps(form, "url")} onChange={(e) => change({ url: e.currentTarget.value })} />
        <FieldNotes field="url" remarks={remarks} value={state.url} onPlain={(url) => change({ url })} />
      </div>
      <div>
        <PlainArea
          label="Headers"
          description="One a line: Name: value. Hidden values stay as they are unless you write over them."
          placeholder="Authorization: Bearer ${secret:MY_TOKEN}"
          value={state.headers}
          {...fieldProps(form, "headers")}
          onChange={(e) => change({ headers: e.currentTarget.value })}
        />
        <FieldNotes field="headers" remarks={remarks} value={state.headers} onPlain={(headers) => change({ headers })} />
      </div>
      <p className={classes.note}>
        This version cannot sign in to a server. Where one asks for it, send a token as a header: write{" "}
        <code className={classes.code}>Authorization: Bearer $&#123;secret:MY_TOKEN&#125;</code> above, and store it with{" "}
        <code className={classes.code}>patchbay secret set MY_TOKEN</code>.
      </p>
    </>
  );
}
