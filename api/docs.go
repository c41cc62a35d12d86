package api

// mountDocs serves the API document and the reference page made of it.
func (a *App) mountDocs() {}
