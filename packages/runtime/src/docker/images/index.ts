export { createImages, type Images, type ImagesOptions } from './images.ts';
export { describeImage } from './plan-image.ts';
export { openRole, SHIPPED_ROLES } from './role-directory.ts';
