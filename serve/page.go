package serve

import (
	"embed"
	"net/http"
	"path"
)

// pageFiles are the page that people see: HTML, CSS and scripts, as they lie in the folder page. Nothing is built or fetched from
// elsewhere. The scripts use the routes and frames of docs/live.md alone, and hold no secret: the token comes with the address.
//
//go:embed page/*.html page/page.css page/icon.svg page/*.js
var pageFiles embed.FS

// pageSecurity lets the page load from and connect to its own server alone, and lets no page of another one show it in a frame.
const pageSecurity = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// pageKinds are the types of its files; what the machine has for their endings may differ.
var pageKinds = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// showPage sends the page, or one of its files.
func (s *Server) showPage(w http.ResponseWriter, q *http.Request) {
	name := path.Clean(q.URL.Path)[1:]
	switch name {
	case "":
		name = "page/index.html"
	case "pair":
		name = "page/pair.html"
	}
	b, err := pageFiles.ReadFile(name)
	if err != nil {
		s.fail(w, refusal(http.StatusNotFound, "the page has no file %q", name))
		return
	}
	w.Header().Set("Content-Security-Policy", pageSecurity)
	w.Header().Set("Content-Type", pageKinds[path.Ext(name)])
	_, _ = w.Write(b) // to a browser that may have gone
}
