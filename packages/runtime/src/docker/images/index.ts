export { createImages, type Images, type ImagesOptions } from './images.ts';
export { describeImage } from './plan-image.ts';
export { locateRole, openRole, SHIPPED_ROLES } from './role-directory.ts';
