package picture

import (
	"path/filepath"
	"runtime"
	"slices"

	"burst/internal/durable"
	"burst/record/runfolder"

	"golang.org/x/sync/errgroup"
)

// Write draws the named pictures of a run, each into the file that path gives for its name, and returns the files' paths.
func Write(f *runfolder.Folder, names []string, format string, o Options, path func(name string) string) ([]string, error) {
	pictures, err := Draw(f, names, o)
	if err != nil {
		return nil, err
	}
	files := make([]string, len(pictures))
	var all errgroup.Group
	all.SetLimit(runtime.GOMAXPROCS(0)) // a picture's dots take some megabytes
	for i, p := range pictures {
		files[i] = path(p.Name)
		all.Go(func() error {
			data, err := p.Encode(format)
			if err != nil {
				return err
			}
			return durable.Replace(files[i], data)
		})
	}
	if err := all.Wait(); err != nil {
		return nil, err
	}
	return files, nil
}

// Into names pictures NAME.FORMAT in a folder.
func Into(dir, format string) func(name string) string {
	return func(name string) string { return filepath.Join(dir, name+"."+format) }
}

// OfRun draws what every run leaves in its folder: raster.png where it has recorded spikes, and rates.png. The raster of a run that
// has ended as planned may have been counted.
func OfRun(dir string, counted *Raster) error {
	f, err := runfolder.Open(dir)
	if err != nil {
		return err
	}
	names := slices.DeleteFunc([]string{"raster", "rates"}, func(n string) bool { return missing(f, n) != "" })
	_, err = Write(f, names, "png", Options{Counted: counted}, Into(dir, "png"))
	return err
}
