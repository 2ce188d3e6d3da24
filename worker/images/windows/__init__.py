"""Builder of Windows images from the user's own installation media: `python -m worker.images.windows --iso FILE`.

Windows installs itself from an answer file (`autounattend`) on a medium of ours (`iso`), beside the user's two: Windows
and virtio-win. There is no network: programs are on our medium, each with its hash (`catalog`). Stages (`stages`,
`build`) are recorded, so that an interrupted build continues. See docs/windows-images.md.
"""
