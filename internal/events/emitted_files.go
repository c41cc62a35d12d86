package events

// ImportCompleted is the event import.completed, announced once for each import, whether it completed or failed.
type ImportCompleted struct{ Import Import }

// Type returns the event type.
func (ImportCompleted) Type() string { return "import.completed" }

// Data returns the import with its counts.
func (e ImportCompleted) Data() (object, previous any) { return e.Import, nil }

// ExportCompleted is the event export.completed, announced once for each export, whether it completed or failed.
type ExportCompleted struct{ Export Export }

// Type returns the event type.
func (ExportCompleted) Type() string { return "export.completed" }

// Data returns the export with the link to its file.
func (e ExportCompleted) Data() (object, previous any) { return e.Export, nil }
