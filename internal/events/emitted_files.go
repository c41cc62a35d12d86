package events

// ImportCompleted is import.completed: once for each import, however it ended.
type ImportCompleted struct{ Import Import }

// Type is the name on the wire.
func (ImportCompleted) Type() string { return "import.completed" }

// Data is the import with its counts.
func (e ImportCompleted) Data() (object, previous any) { return e.Import, nil }

// ExportCompleted is export.completed: once for each export, however it ended.
type ExportCompleted struct{ Export Export }

// Type is the name on the wire.
func (ExportCompleted) Type() string { return "export.completed" }

// Data is the export with the link to its file.
func (e ExportCompleted) Data() (object, previous any) { return e.Export, nil }
