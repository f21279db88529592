package serve

import (
	"net/http"
	"reflect"
	"strings"

	"burst/internal/jsontype"
	"burst/live/wire"
	"burst/run"
)

// openAPI describes the routes, from their table.
func openAPI(s *Server, _ http.ResponseWriter, _ *http.Request) (any, error) {
	paths := map[string]map[string]any{}
	for i := range s.routes {
		r := &s.routes[i]
		if paths[r.path] == nil {
			paths[r.path] = map[string]any{}
		}
		paths[r.path][strings.ToLower(r.method)] = r.document()
	}
	return map[string]any{
		"openapi": "3.1.0", "info": map[string]any{"title": "burst serve", "version": run.Version}, "paths": paths,
		"components": map[string]any{"securitySchemes": map[string]any{"token": map[string]any{"type": "http", "scheme": "bearer"}}},
	}, nil
}

// document describes a route.
func (r *route) document() map[string]any {
	body := func(kind string, v any) map[string]any {
		schema := map[string]any{}
		if v != nil {
			schema = jsontype.Schema(reflect.TypeOf(v), map[reflect.Type]map[string]any{
				reflect.TypeFor[wire.Port](): {"anyOf": []any{map[string]any{"type": "integer", "minimum": 0}, map[string]any{"type": "string", "minLength": 1}}},
			})
		}
		return map[string]any{kind: map[string]any{"schema": schema}}
	}
	ok := map[string]any{"description": r.about, "content": body("application/json", r.out)}
	if r.out == nil {
		ok["content"] = body(r.kind, nil)
	}
	fault := map[string]any{"description": "what was wrong", "content": body("application/json", failure{})}
	x := map[string]any{"summary": r.about, "responses": map[string]any{"200": ok, "default": fault}}
	if r.scope > scopeNone {
		x["security"] = []any{map[string]any{"token": []string{r.scope.String()}}}
	}
	if r.in != nil {
		x["requestBody"] = map[string]any{"required": true, "content": body("application/json", r.in)}
	}
	var list []any
	for _, p := range r.query {
		list = append(list, map[string]any{"name": p.name, "in": p.in, "description": p.about, "required": p.required, "schema": map[string]any{"type": "string"}})
	}
	if list != nil {
		x["parameters"] = list
	}
	return x
}
