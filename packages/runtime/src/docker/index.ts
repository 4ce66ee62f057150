export { createDockerBackend } from './adapter.ts';
export {
  type ContainerNodeOptions,
  containerNode,
  isSelfContained,
  type PinnedNode,
} from './container-node.ts';
export { containerRuntime } from './container-runtime.ts';
export type { EngineClient } from './engine.ts';
export { createImages, type Images, type ImagesOptions } from './images/index.ts';
export type { DockerOptions } from './options.ts';
export type { EnsuredImage, ImagePort } from './ports.ts';
