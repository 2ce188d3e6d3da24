"""Makes a Windows image from the user's own install medium: `python -m worker.images.windows --iso FILE`.

Windows sets itself up from an answer file (`answers`) on a medium of ours (`medium`), next to the user's two: Windows
and virtio-win. No network: programs lie on our medium, each with its hash (`catalog`). Stages (`stages`, `build`) are
done or not, so that a build which broke off goes on. docs/windows-images.md tells the whole.
"""
