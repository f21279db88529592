package picture

import (
	"path/filepath"
	"slices"

	"burst/internal/durable"
	"burst/record"
)

// Write draws the named pictures of a run into dir as NAME.FORMAT and returns the files' paths.
func Write(f *record.Folder, dir string, names []string, format string, o Options) ([]string, error) {
	pictures, err := Draw(f, names, o)
	if err != nil {
		return nil, err
	}
	files := []string{}
	for _, p := range pictures {
		data, err := p.Encode(format)
		if err != nil {
			return nil, err
		}
		path := filepath.Join(dir, p.Name+"."+format)
		if err := durable.Replace(path, data); err != nil {
			return nil, err
		}
		files = append(files, path)
	}
	return files, nil
}

// OfRun draws what every run leaves in its folder: raster.png where it has recorded spikes, and rates.png.
func OfRun(dir string) error {
	f, err := record.Open(dir)
	if err != nil {
		return err
	}
	names := slices.DeleteFunc([]string{"raster", "rates"}, func(n string) bool { return missing(f, n) != "" })
	_, err = Write(f, dir, names, "png", Options{})
	return err
}
